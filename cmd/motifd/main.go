// Command motifd watches a stream of edge updates and reports which subgraph patterns have just appeared and which have
// just disappeared. See README.md, or run motifd --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/alecthomas/kong"
	"github.com/rs/zerolog"

	"motifd/cmd/motifd/internal/command"
	"motifd/stream"
)

// cli is the command line: one field per subcommand.
type cli struct {
	LogLevel  string `help:"${log_level_help}" placeholder:"LEVEL" enum:",debug,info,warn,error" default:""`
	LogFormat string `help:"${log_format_help}" placeholder:"FORMAT" enum:",auto,console,json" default:""`

	Run        runCmd        `cmd:"" help:"Run the daemon: updates in, match deltas out."`
	Demo       demoCmd       `cmd:"" help:"${demo_cmd_help}"`
	Replay     replayCmd     `cmd:"" help:"Run a logged update stream, or a checkpoint's batch log, offline."`
	Match      matchCmd      `cmd:"" help:"Find the matches in a graph that does not change."`
	Explain    explainCmd    `cmd:"" help:"Print how a pattern is searched."`
	Query      queryCmd      `cmd:"" help:"List and change the queries of a running daemon."`
	Vertices   verticesCmd   `cmd:"" help:"Load properties of vertices into a running daemon."`
	Bench      benchCmd      `cmd:"" help:"Measure motifd on a generated case, alone or beside a peer."`
	Size       sizeCmd       `cmd:"" help:"Estimate the memory and the disk that a graph needs."`
	Synth      synthCmd      `cmd:"" help:"Write generated payments with planted money laundering, and patterns."`
	Topics     topicsCmd     `cmd:"" help:"Create and check the Kafka topics of a configuration."`
	Config     configCmd     `cmd:"" help:"Print the defaults of the configuration."`
	Audit      auditCmd      `cmd:"" help:"${audit_cmd_help}"`
	Checkpoint checkpointCmd `cmd:"" help:"${checkpoint_cmd_help}"`
	Version    versionCmd    `cmd:"" help:"Print the version."`
}

// app is the environment of a subcommand: its streams, log settings and context.
type app struct {
	ctx            context.Context // done on the first interrupt
	stdin          io.Reader
	stdout, stderr io.Writer
	environ        []string
	level, format  string // of the log, as the command line says; may be empty
	log            zerolog.Logger
}

// Exit codes.
const (
	exitOK      = 0
	exitFailed  = 1 // something went wrong while working
	exitRefused = 2 // the command line, the configuration or a pattern is wrong: nothing was started
	exitFenced  = 3 // another daemon has taken over the output: a restart would take it back
	// The daemon was stopped before it had finished the batches in progress of the run before: the output is not
	// complete.
	exitUnfinished = 4
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop() // a second interrupt ends the process at once
	}()
	os.Exit(execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
}

// execute runs the command line and returns the exit code.
func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, environ []string) int {
	var c cli
	exited, code := false, exitOK
	parser, err := kong.New(&c,
		kong.Name("motifd"),
		kong.Description(description),
		helpTexts,
		kong.Writers(stdout, stderr),
		kong.Exit(func(n int) {
			if !exited {
				exited, code = true, n
			}
		}),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
	if err != nil {
		fmt.Fprintf(stderr, "motifd: %v\n", err)
		return exitFailed
	}
	parsed, err := parser.Parse(usual(args))
	if exited { // --help has printed
		return code
	}
	if err != nil {
		fmt.Fprintf(stderr, "motifd: %v\nmotifd: see %s --help\n", err, commandOf(err))
		return exitRefused
	}
	a := &app{
		ctx: ctx, stdin: stdin, stdout: stdout, stderr: stderr, environ: environ,
		level: c.LogLevel, format: c.LogFormat,
	}
	a.log = command.NewLogger(stderr, a.level, a.format)
	err = parsed.Run(a)
	var bad command.Refused
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &bad):
		fmt.Fprintf(stderr, "motifd: %v\n", err)
		return exitRefused
	}
	fmt.Fprintf(stderr, "motifd: %v\n", err)
	if errors.Is(err, stream.ErrFenced) {
		return exitFenced
	}
	if errors.Is(err, errUnfinished) {
		return exitUnfinished
	}
	return exitFailed
}

// usual understands what other programs take: help COMMAND, --version, and no argument at all.
func usual(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "help":
		return append(slices.Clone(args[1:]), "--help")
	case len(args) == 1 && args[0] == "--version":
		return []string{"version"}
	}
	return args
}

// commandOf returns the command that a command line names as far as it was understood.
func commandOf(err error) string {
	name := "motifd"
	var bad *kong.ParseError
	if errors.As(err, &bad) && bad.Context != nil {
		for _, p := range bad.Context.Path {
			if p.Command != nil {
				name += " " + p.Command.Name
			}
		}
	}
	return name
}

const description = `motifd watches a stream of edge updates and reports, batch by batch, which subgraph patterns have
just appeared (+) and which have just disappeared (-).

To see it work, as a daemon, and on files:

    motifd demo
    motifd run -c motifd.yaml
    motifd replay --graph=graph.txt --updates=updates.txt --query=ring.cypher
`
