"""Measurements, as ratios in one run against a floor. `make bench` runs them all."""
