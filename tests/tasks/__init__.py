"""The acceptance set: twenty tasks of an artist, played by an agent in three real applications.

``python -m tests.tasks`` plays them. Each is played twice: as a competent agent would, and with the
mistakes of a careless one, which must lose nothing and be told what to do. The outcome is read from
the saved file by the application's own API, in a fresh process.
"""
