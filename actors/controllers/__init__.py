"""Controllers: each sees to it that what is there is what is wanted."""
