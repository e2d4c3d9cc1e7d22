package main

import (
	"errors"
	"fmt"
	"strings"

	"motifd/cmd/motifd/internal/command"
	"motifd/stream/checkpoint"
)

type checkpointMigrateCmd struct {
	Dir    string   `arg:"" help:"Directory of the checkpoint." type:"existingdir"`
	Config string   `short:"c" help:"Configuration file (YAML) of the new checkpoint." placeholder:"FILE" required:""`
	Set    []string `help:"${set_help}" placeholder:"FIELD=VALUE" sep:"none"`
}

func (checkpointMigrateCmd) Help() string {
	return `A checkpoint keeps graph.edge_identity, graph.vertex_labels, the output, output.mode and the input's format
for its life. To change one of them, write a new configuration with another checkpoint.dir and another output, and make
that checkpoint from the former one, of whatever format it is. The new one has the graph, the positions in the input and
event time.

It is a new stream: batches and match ids begin anew, the batch log is empty, and there is no query. The next start
registers the configured queries; with backfill: full they emit the matches that there are. Add the queries of the API
again; the command names them.

With edge_identity: id, an edge is the edge with the id that it had. From then on a deletion has to name the id. An
identity of id cannot become ends.

With vertex_labels: several, the label of a vertex becomes one of its labels. From then on =v with label is refused, and
has labels instead. several cannot become one.

The daemon must be stopped, without a batch in progress. The former checkpoint is not changed: to go back, start with
the former configuration. The new one gets its name when it is complete and verified; a command that was interrupted is
given again. It takes as much room as the former one.

No migration is needed for another format of the checkpoint: motifd run opens older ones. Nor for graph.properties and
graph.retention: the next start changes them.

Example:
  motifd checkpoint migrate /var/lib/motifd -c new.yaml    # checkpoint.dir: /var/lib/motifd-id
  motifd run -c new.yaml`
}

// Run makes the new checkpoint.
func (c *checkpointMigrateCmd) Run(a *app) error {
	cfg, err := (&runCmd{Config: c.Config, Set: c.Set}).load(a)
	if err != nil {
		return err
	}
	to := cfg.Checkpoint.Dir
	show, shown := stages(a, "")
	m, err := checkpoint.Migrate(a.ctx, c.Dir, to, cfg.CheckpointOptions().Settings, nil, show)
	shown()
	switch {
	case errors.Is(err, checkpoint.ErrMigrate):
		return command.Refuse(err)
	case err != nil:
		return err
	}
	if _, err := fmt.Fprintf(a.stdout, "%s: %s, %s, %s, verified; stream %s\n", to,
		plural(m.Labels, "label"), plural(m.Vertices, "vertex"), plural(m.Edges, "edge"), m.StreamID); err != nil {
		return err
	}
	var names []string
	for i := range m.Left {
		if q := m.Left[i].Query; q.Origin != "config" {
			names = append(names, q.Name)
		}
	}
	if len(names) > 0 {
		_, err = fmt.Fprintf(a.stdout, "not in it are the queries of the API: %s\n", strings.Join(names, ", "))
	}
	return err
}

// stages returns what shows the progress of work on a checkpoint, stage by stage, and what ends it.
func stages(a *app, what string) (show func(checkpoint.Progress), done func()) {
	stage := ""
	var p *command.Progress
	done = func() {
		if p != nil {
			p.Done()
		}
	}
	return func(at checkpoint.Progress) {
		if at.Stage != stage {
			done()
			stage, p = at.Stage, command.NewProgress(a.stderr, what+at.Stage, "read")
		}
		if at.Total > 0 {
			p.Update(at.Done, float64(at.Done)/float64(at.Total))
		}
	}, done
}
