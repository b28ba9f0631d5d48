"""Every record is changed at random by a known law, and the truth about all of them is estimated back."""
