//go:build !race

package spooltest

// raceDetector is true in a test that looks for data races.
const raceDetector = false
