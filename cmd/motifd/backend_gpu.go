//go:build cuda || emu

package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"motifd/cmd/motifd/internal/admin"
	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/cuda"
	"motifd/matcher/cuda/device"
	"motifd/matcher/cuda/placement"
	"motifd/stream"
)

// gpuBuild tells whether this build has the GPU backend.
const gpuBuild = true

// openGPU is a GPU that is open.
type openGPU struct {
	kernels.Device
	number int
	took   time.Duration
}

// openGPUs opens the GPUs that were asked for. One that cannot be opened is an error for cuda; auto logs why and does
// with the others, if there are any.
func openGPUs(o *backendOptions) (all []openGPU, err error) {
	numbers := o.devices.List(countDevices())
	if len(numbers) == 0 {
		numbers = []int{0} // which tells what is missing
	}
	for _, n := range numbers {
		began := o.cpu.Clock()
		dev, e := openDevice(n)
		if e == nil {
			all = append(all, openGPU{kernels.Limited(dev, o.deviceMemory), n, time.Duration(o.cpu.Clock() - began)})
			continue
		}
		if err = cmp.Or(err, e); o.name != "auto" {
			break
		}
		if len(numbers) > 1 {
			o.log.Warn().Err(e).Msg("a GPU is not used")
		}
	}
	if err != nil && (o.name != "auto" || len(all) == 0) {
		closeGPUs(all)
		return nil, err
	}
	return all, nil
}

// closeGPUs closes GPUs of which an error is told already.
func closeGPUs(all []openGPU) {
	for _, g := range all {
		_ = g.Close()
	}
}

// newGPU opens the GPUs and returns the backend on them.
func newGPU(o backendOptions) (*timedBackend, error) {
	opened, err := openGPUs(&o)
	if err != nil {
		return nil, err
	}
	opt := cuda.Options{Device: opened[0].Device, CPU: o.cpu, Clock: o.cpu.Clock, Timeout: context.WithTimeout}
	if t := o.trace; t != nil {
		opt.Trace = &device.Trace{Clock: t.Clock, Each: func(s device.TraceSpan) bool {
			return t.Device(stream.Lane(s.Lane), s.What, s.Wave, s.N, s.Begin, s.End)
		}}
		t.OnDeviceErr(opt.Trace.Err)
	}
	var measured placement.Calibration
	if o.name == "auto" {
		if measured, err = placement.Calibrate(opened[0].Device, o.cpu.Clock); err != nil {
			closeGPUs(opened)
			return nil, fmt.Errorf("measuring GPU %d: %w", opened[0].number, err)
		}
		opt.Placement = placement.New(placement.Options{
			Fill: o.placement.Fill, Explore: float64(o.placement.ExplorePercent) / 100,
			Hysteresis: float64(o.placement.HysteresisPercent) / 100, Rehearse: int64(o.placement.Rehearse),
			Device: measured, Placed: o.placed,
		})
	}
	used := &gpus{}
	for i, g := range opened {
		if i > 0 {
			opt.More = append(opt.More, g.Device)
		}
		info := g.Info()
		used.add(g.number, info.Name)
		o.gpuUsed(g.number, info.Name, true)
		if info.Refused != nil {
			o.log.Warn().Err(info.Refused).Str("gpu", info.Name).
				Msg("the driver refuses the machine code of the kernels; it compiled them from PTX")
		}
		found := o.log.Info().Int("device", g.number).Str("gpu", info.Name).Int64("memory_mib", info.Memory>>20).
			Str("code", info.Code).Int64("open_ms", g.took.Milliseconds())
		if i == 0 && o.name == "auto" {
			found.Float64("round_trip_us", math.Round(measured.RoundTrip/100)/10).
				Float64("copy_gb_s", math.Round(100/measured.Byte)/100)
		}
		found.Msg("searching on a GPU")
	}
	opt.GraphPlaced = func(why error, at cuda.GraphPlace) {
		if why != nil {
			o.log.Warn().Err(why).Msg("the graph does not fit the GPU, which reads a part of it from the host")
		}
		used.setGraph(admin.GPUGraph{DeviceBytes: at.Device, MappedBytes: at.Mapped})
	}
	last := 0 // index of the GPU that is left when all others have failed
	opt.Dropped = func(i int, err error, left int) {
		lost := used.lose(i, err)
		o.gpuUsed(lost.Device, lost.Name, false)
		o.log.Error().Err(err).Int("device", lost.Device).Str("gpu", lost.Name).Int("left", left).
			Msg("a GPU failed; the others go on where it stopped, and search from now on")
		last = slices.IndexFunc(used.list(), func(g admin.GPU) bool { return g.State == admin.GPUUsed })
		if o.lost != nil {
			o.lost("cuda", used)
		}
	}
	if o.name == "auto" {
		opt.Lost = func(err error) {
			lost := used.lose(last, err)
			o.gpuUsed(lost.Device, lost.Name, false)
			o.log.Error().Err(err).Int("device", lost.Device).Str("gpu", lost.Name).
				Msg("the GPU failed; the CPU goes on where it stopped, and searches from now on")
			if o.lost != nil {
				o.lost("cpu", used)
			}
		}
	}
	return &timedBackend{Backend: o.wrap(cuda.New(opt)), threads: o.cpu.Threads, gpus: used}, nil
}

// gpuUsed tells the metrics whether a GPU is used.
func (o *backendOptions) gpuUsed(number int, name string, used bool) {
	if o.metrics != nil {
		o.metrics.GPU(number, name, used)
	}
}

// placed counts a search that was placed.
func (o *backendOptions) placed(w placement.Work, side placement.Side, reason placement.Reason, cost placement.Cost) {
	if o.metrics == nil {
		return
	}
	kind := map[matcher.Want]string{matcher.WantRows: "deltas", matcher.WantCount: "counts",
		matcher.WantAny: "exists"}[w.Want]
	if w.Whole {
		kind = "snapshot"
	}
	o.metrics.Placed(kind, side.String(), string(reason), time.Duration(cost.Search+cost.CatchUp))
}
