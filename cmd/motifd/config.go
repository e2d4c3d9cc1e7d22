package main

import (
	"io"

	"motifd/config"
	"motifd/docs"
)

// configCmd tells about configurations.
type configCmd struct {
	Defaults configDefaultsCmd `cmd:"" help:"Print the whole configuration with every default, as YAML."`
}

type configDefaultsCmd struct{}

func (configDefaultsCmd) Help() string {
	return `Each field has the text of docs/configuration.md as a comment. What has no default is commented out, as are
sections that are there only when they are named, such as input.kafka: take away the # in front of a name.

Example:
  motifd config defaults > motifd.yaml
  motifd run -c motifd.yaml --check       # says what is required`
}

// Run prints the defaults.
func (configDefaultsCmd) Run(a *app) error {
	_, err := io.WriteString(a.stdout, config.Defaults(docs.Configuration))
	return err
}
