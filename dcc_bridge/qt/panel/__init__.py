"""What agents do in this session, what they ask, and what they did. Rows and state need no Qt."""
