"""Installs the plug-in where an application looks for it. Main thread.

================  ===============================================================================
``places``        where an application may be installed, as its leaf declares it
``applications``  finds the applications that are installed
``registry``      reads what Windows' registry says of installed programs
``locations``     where an application looks for plug-ins; reads and writes no file there
``vendor``        copies the bridge and its dependencies into a folder
``plan``          installs the plug-in, and replaces an older one
``installed``     the list of an installation's files, so that only these are removed
``folders``       changes a folder as a whole, or not at all
``packs``         packs the bridge into one file, for Blender and for Claude Desktop
================  ===============================================================================
"""
