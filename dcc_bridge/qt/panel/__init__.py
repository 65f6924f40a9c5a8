"""The panel: what agents do in this session, ask, and did, drawn with Qt."""
