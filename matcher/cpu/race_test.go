//go:build race

package cpu

const raceDetector = true // which multiplies memory
