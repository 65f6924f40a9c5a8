"""WHAT THE HOST CAN DO: skills, where they come from, and how they are run."""
