//go:build cuda || emu

package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"motifd/matcher"
	"motifd/matcher/cuda"
	"motifd/matcher/cuda/device"
	"motifd/matcher/cuda/placement"
	"motifd/stream"
)

// gpuBuild tells whether this build has the GPU backend.
const gpuBuild = true

// newGPU opens a GPU and returns the backend on it.
func newGPU(o backendOptions) (*timedBackend, error) {
	began := o.cpu.Clock()
	dev, err := openDevice(o.device)
	if err != nil {
		return nil, err
	}
	opened := time.Duration(o.cpu.Clock() - began)
	opt := cuda.Options{Device: dev, CPU: o.cpu, Clock: o.cpu.Clock, Timeout: context.WithTimeout}
	if t := o.trace; t != nil {
		opt.Trace = &device.Trace{Clock: t.Clock, Each: func(s device.TraceSpan) bool {
			return t.Device(stream.Lane(s.Lane), s.What, s.Wave, s.N, s.Begin, s.End)
		}}
		t.OnDeviceErr(opt.Trace.Err)
	}
	info := dev.Info()
	if info.Refused != nil {
		o.log.Warn().Err(info.Refused).Str("gpu", info.Name).
			Msg("the driver refuses the machine code of the kernels; it compiled them from PTX")
	}
	found := o.log.Info().Int("device", o.device).Str("gpu", info.Name).Int64("memory_mib", info.Memory>>20).
		Str("code", info.Code).Int64("open_ms", opened.Milliseconds())
	if o.name == "auto" {
		measured, err := placement.Calibrate(dev, o.cpu.Clock)
		if err != nil {
			_ = dev.Close() // that it failed is told already
			return nil, fmt.Errorf("measuring GPU %d: %w", o.device, err)
		}
		found.Float64("round_trip_us", math.Round(measured.RoundTrip/100)/10).
			Float64("copy_gb_s", math.Round(100/measured.Byte)/100)
		opt.Placement = placement.New(placement.Options{
			Fill: o.placement.Fill, Explore: float64(o.placement.ExplorePercent) / 100,
			Hysteresis: float64(o.placement.HysteresisPercent) / 100, Rehearse: int64(o.placement.Rehearse),
			Device: measured, Placed: o.placed,
		})
		opt.Lost = func(err error) {
			o.log.Error().Err(err).Str("gpu", info.Name).
				Msg("the GPU failed; the CPU goes on where it stopped, and searches from now on")
			if o.lost != nil {
				o.lost()
			}
		}
	}
	found.Msg("searching on a GPU")
	return &timedBackend{Backend: o.wrap(cuda.New(opt)), threads: o.cpu.Threads, device: info.Name}, nil
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
