"""Installs the plug-in where an application looks for it. Main thread.

`locations` knows where that is for each application and touches nothing; `vendor` brings what the
bridge depends on; `plan` installs and remembers each file, so that exactly these are taken away.
"""
