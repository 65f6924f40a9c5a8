"""Installs the plug-in where an application looks for it. Main thread.

==============  =================================================================================
``locations``   where an application looks for plug-ins; touches nothing
``vendor``      brings the bridge and what it depends on into a folder
``plan``        installs the plug-in, in place of an older one
``installed``   the list of an installation's files, so that exactly these are taken away
``folders``     changes a folder as a whole, or not at all
``packs``       packs the bridge into one file, for Blender and for Claude Desktop
==============  =================================================================================
"""
