// Package device holds what everything on the device side of the GPU backend uses: device memory and page-locked
// memory that grow (Buffer, Page), and Trace, which notes what the device does and when, by events on its streams.
//
// In: a kernels.Device. Out: addresses and host slices. The owner of a Buffer or Page is whoever declares it; growing
// loses the content, and nothing may be under way in it then. A second GPU has buffers and a trace of its own: Dev
// says whose they are.
package device
