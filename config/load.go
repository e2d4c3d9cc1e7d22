package config

import (
	"fmt"
	"os"
	"strings"
)

// maxFile bounds the configuration file, in bytes.
const maxFile = 4 << 20

// LoadOptions say where the configuration comes from.
type LoadOptions struct {
	File    string   // YAML file; "" for none
	Environ []string // NAME=VALUE, as os.Environ returns it
	Set     []string // PATH=VALUE, from the command line
	// GPU tells that the program has the GPU backend; engine.backend: cuda is refused otherwise.
	GPU bool
	// Elsewhere tells that the configuration is for another machine: data, output folders and secrets that it names
	// need not be here.
	Elsewhere bool
}

// NoGPU tells a user of a program without the GPU backend which one has it.
const NoGPU = "this program was built without the GPU backend; take motifd-cuda, which `make cuda` builds, or " +
	"choose auto, cpu or reference"

// Load reads the configuration, checks it and reads the secrets that it names. The error is an Errors with every
// mistake that was found.
func Load(opt LoadOptions) (*Config, error) {
	c := Default()
	c.src = newSources()
	var errs Errors
	if opt.File != "" {
		text, err := os.ReadFile(opt.File)
		if err != nil {
			return nil, fmt.Errorf("reading the configuration: %w", err)
		}
		if len(text) > maxFile {
			return nil, fmt.Errorf("%s: the configuration has %d bytes; at most %d are allowed", opt.File, len(text),
				maxFile)
		}
		errs = bindFile(c, opt.File, text)
	}
	unknown, mistakes := overrideEnv(c, opt.Environ)
	mistakes = append(mistakes, overrideFlags(c, opt.Set)...)
	errs = append(append(errs, unknownVariables(c, unknown)...), mistakes...)
	if len(errs) > 0 {
		return nil, errs // validating what was not understood would repeat it
	}
	c.inherit()
	if err := c.validate(&opt); err != nil {
		return nil, err
	}
	return c, nil
}

// lookup finds variables in a list of NAME=VALUE.
func lookup(environ []string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, entry := range environ {
			if k, v, ok := strings.Cut(entry, "="); ok && k == name {
				return v, true
			}
		}
		return "", false
	}
}

// inherit fills in what one section takes from another: brokers from the embedded log, and the output's connection from
// the input's.
func (c *Config) inherit() {
	in, out := c.Input.Kafka, c.Output.Kafka
	if e := c.Embedded; e != nil {
		if in != nil && len(in.Brokers) == 0 {
			in.Brokers = []string{e.Addr()}
		}
		if out != nil && len(out.Brokers) == 0 {
			out.Brokers = []string{e.Addr()}
		}
	}
	if in != nil && out != nil && len(out.Brokers) == 0 && out.TLS == nil && out.SASL == nil {
		out.Brokers, out.inherited = in.Brokers, true
		out.TLS, out.SASL = in.TLS, in.SASL
	}
	if out != nil && out.RequestTimeout == 0 {
		if out.RequestTimeout = requestTimeout; in != nil {
			out.RequestTimeout = in.RequestTimeout
		}
	}
}
