//go:build cuda

package main

import "motifd/kernels"

func countDevices() int { return kernels.CountGPUs() }

func openDevice(number int) (kernels.Device, error) { return kernels.OpenGPU(number) }
