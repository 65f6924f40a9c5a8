"""What agents do in this session, what they ask, and what they did, drawn with Qt."""
