"""When somebody is told: recording rules, alerts, and the pages that need no Prometheus."""
