"""`agent-monitor demo`: a shop, its agent in two releases, and the monitor that watches them."""
