"""OpenTelemetry protocol: wire decoding and receivers."""
