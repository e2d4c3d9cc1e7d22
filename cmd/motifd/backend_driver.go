//go:build cuda

package main

import "motifd/kernels"

func openDevice(number int) (kernels.Device, error) { return kernels.OpenGPU(number) }
