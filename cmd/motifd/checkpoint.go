package main

import (
	"errors"
	"fmt"
	"strings"

	"motifd/cmd/motifd/internal/admin"
	"motifd/cmd/motifd/internal/command"
	"motifd/cmd/motifd/internal/copies"
	"motifd/matcher"
	"motifd/stream/checkpoint"
)

// checkpointCmd looks into checkpoints.
type checkpointCmd struct {
	Info    checkpointInfoCmd    `cmd:"" help:"Print what a checkpoint holds."`
	Verify  checkpointVerifyCmd  `cmd:"" help:"Read everything in a checkpoint and check that it fits together."`
	Backup  checkpointBackupCmd  `cmd:"" help:"Copy a checkpoint, also while the daemon runs on it."`
	Suspend checkpointSuspendCmd `cmd:"" help:"${suspend_cmd_help}"`
	Migrate checkpointMigrateCmd `cmd:"" help:"${migrate_cmd_help}"`
}

func (checkpointCmd) Help() string {
	return `While a daemon uses the checkpoint, info and verify read a copy of the present moment, which the daemon
makes for them; suspend and migrate require the daemon to be stopped.

Examples:
  motifd checkpoint info /var/lib/motifd
  motifd checkpoint verify /var/lib/motifd
  motifd checkpoint backup /var/lib/motifd /backup/motifd-monday
  motifd checkpoint suspend /var/lib/motifd --query fan10
  motifd checkpoint migrate /var/lib/motifd -c new.yaml`
}

type checkpointBackupCmd struct {
	Dir string `arg:"" help:"Directory of the checkpoint." type:"existingdir"`
	To  string `arg:"" help:"${backup_to_help}" type:"path"`
}

func (checkpointBackupCmd) Help() string {
	return `The copy is the state of one moment: graph, positions, queries, batch log, and batches in progress. A
running daemon makes it, requested through a socket in its directory; a failed backup does not disturb it. On the same
file system tables are linked: the copy is made at once, and takes room only when the daemon merges its own tables.

To restore a backup, stop the daemon, put the directory in the place of checkpoint.dir, and start. If the output has
gone on since the backup, the start is refused, because other records would get numbers that are taken.
docs/howto/backup.md says how to go on.

Examples:
  motifd checkpoint backup /var/lib/motifd /backup/motifd-monday
  motifd checkpoint verify /backup/motifd-monday
  motifd replay --batch-log /backup/motifd-monday --out=again.jsonl`
}

// Run makes the backup.
func (c *checkpointBackupCmd) Run(a *app) error { return copies.Backup(a.ctx, c.Dir, c.To) }

type checkpointInfoCmd struct {
	Dir  string `arg:"" help:"Directory of the checkpoint." type:"existingdir"`
	JSON bool   `help:"Print JSON."`
}

func (checkpointInfoCmd) Help() string {
	return `Examples:
  motifd checkpoint info /var/lib/motifd
  motifd checkpoint info --json /var/lib/motifd`
}

// Run prints what the checkpoint holds.
func (c *checkpointInfoCmd) Run(a *app) (err error) {
	dir, done, err := copies.Open(a.ctx, c.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	info, err := checkpoint.Info(dir, nil)
	if err != nil {
		return err
	}
	if c.JSON {
		queries := make([]admin.QueryInfo, len(info.Queries))
		for i := range info.Queries {
			queries[i] = (&admin.Query{QueryState: info.Queries[i]}).Info()
		}
		return command.PrintJSON(a.stdout, struct {
			*checkpoint.Contents
			Queries []admin.QueryInfo `json:"queries"` // in place of those of Contents
		}{info, queries})
	}
	return printContents(a.stdout, info)
}

type checkpointSuspendCmd struct {
	Dir   string `arg:"" help:"Directory of the checkpoint." type:"existingdir"`
	Query string `help:"Name of the query." placeholder:"NAME" required:""`
}

func (checkpointSuspendCmd) Help() string {
	return `For a batch that does not end: stop or kill the daemon, suspend the query that takes too long, and start
again. motifd_step_running_seconds, the log and "step" in /api/v1/status name the query.

The request is stored in the checkpoint. The next start obeys it in the batch in progress, from the first record that
is not published yet. Published records are found once more first, which takes at most as long as it took. Without a
batch in progress, the start suspends the query in a batch of its own. The output has "op":"!" with the reason
suspended and the limit operator, and a replay of the batch log does the same. motifd query resume NAME brings the
query back as a new version.

motifd run --suspend NAME does the same with the start itself. The daemon must not be running; if it runs and answers,
use motifd query remove NAME.

Examples:
  motifd checkpoint suspend /var/lib/motifd --query fan10
  motifd checkpoint info /var/lib/motifd        # which queries there are`
}

// Run stores the request.
func (c *checkpointSuspendCmd) Run(a *app) error {
	got, err := checkpoint.Suspend(c.Dir, nil, c.Query)
	switch {
	case errors.Is(err, matcher.ErrNoQuery):
		return command.Refuse(err)
	case err != nil:
		return err
	case got.Already:
		_, err = fmt.Fprintf(a.stdout, "query %q is suspended already\n", c.Query)
	case len(got.Open) > 0:
		_, err = fmt.Fprintf(
			a.stdout,
			"the next start suspends query %q in batch %d, from the first record on that is not published\n",
			c.Query,
			got.Open[0],
		)
	default:
		_, err = fmt.Fprintf(a.stdout, "the next start suspends query %q; no batch is in progress\n", c.Query)
	}
	return err
}

type checkpointVerifyCmd struct {
	Dir string `arg:"" help:"Directory of the checkpoint." type:"existingdir"`
}

func (checkpointVerifyCmd) Help() string {
	return `Every record is read, and the batch log is undone to its base. The exit status is 1 if there is a
problem.

Example:
  motifd checkpoint verify /var/lib/motifd`
}

// Run checks the checkpoint.
func (c *checkpointVerifyCmd) Run(a *app) (err error) {
	dir, done, err := copies.Open(a.ctx, c.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	show, shown := stages(a, "verifying ")
	v, err := checkpoint.Verify(a.ctx, dir, nil, show)
	shown()
	if err != nil {
		return err
	}
	if len(v.Problems) == 0 {
		_, err := fmt.Fprintf(a.stdout, "%s: intact; %s, %s, %s, %s in the log\n",
			c.Dir, plural(v.Labels, "label"), plural(v.Vertices, "vertex"), plural(v.Edges, "edge"),
			plural(v.Batches, "batch"))
		return err
	}
	if _, err := fmt.Fprintln(a.stdout, strings.Join(v.Problems, "\n")); err != nil {
		return err
	}
	return fmt.Errorf("%s: %s; restore the checkpoint from a copy, or start with a new directory",
		c.Dir, plural(uint64(len(v.Problems))+v.More, "problem"))
}
