//go:build !race

package main

// raceDetector is true in a test that looks for data races.
const raceDetector = false
