"""Stand-ins for applications that cannot run here: they behave as their vendors' documents say."""
