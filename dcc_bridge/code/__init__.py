"""Code that an agent sends and a person agrees to: read, asked about, run, taken back."""
