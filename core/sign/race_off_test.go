//go:build !race

package sign_test

const raceDetector = false
