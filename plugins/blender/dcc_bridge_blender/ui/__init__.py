"""WHAT THE PERSON SEES: the sidebar, the notice, and questions as dialogs of Blender's own."""
