//go:build !race

package enginetest

// raceDetector is true in a test that looks for data races.
const raceDetector = false
