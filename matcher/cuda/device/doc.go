// Package device has the utilities of the device side of the GPU backend: device memory and page-locked memory that
// grow (Buffer, Page), and Trace, which records the work of the device with its times, by events on its streams.
//
// In: a kernels.Device. Out: addresses and host slices. The struct that declares a Buffer or Page owns it. Growing
// loses the content, so no queued work may use it then. A second GPU has its own buffers and trace; the field Dev names
// the device.
package device
