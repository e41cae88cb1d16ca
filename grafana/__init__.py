"""The dashboards as code, and the JSON that is built from it."""
