"""The plug-in where an application looks for it: put there, taken away, looked after.

`places` knows where that is for each host, as functions of a system that touch nothing; `vendor`
brings what the bridge depends on; `written` remembers each file, so that exactly these are taken
away. Main thread.
"""
