//go:build !race

package signed_test

const raceDetector = false
