package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"motifd/cmd/motifd/internal/admin"
	"motifd/cmd/motifd/internal/command"
	"motifd/config"
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/pattern"
	"motifd/stream/eventtime"
)

// queryCmd talks to a running daemon.
type queryCmd struct {
	Add      queryAddCmd      `cmd:"" help:"Register a query, or replace the one of its name."`
	List     queryListCmd     `cmd:"" help:"List the registered queries."`
	Remove   queryRemoveCmd   `cmd:"" help:"Remove a query."`
	Resume   queryResumeCmd   `cmd:"" help:"Resume a suspended query, as a new version."`
	Validate queryValidateCmd `cmd:"" help:"Check pattern files, without a daemon."`
}

func (queryCmd) Help() string {
	return `Each change takes effect in a batch of its own, whose number is printed.

Examples:
  motifd query add ring.cypher
  motifd query add --name=fan-in --emit=counts fan.cypher
  motifd query list
  motifd query remove ring
  motifd query validate queries/`
}

type queryAddCmd struct {
	File         string `arg:"" help:"${pattern_file_help}" type:"existingfile"`
	Name         string `help:"Name of the query (default: the file's name without extension)." placeholder:"NAME"`
	Backfill     string `help:"${backfill_help}" enum:",none,full" default:""`
	DryRun       bool   `help:"Register nothing: check the query, and print how many matches are in the graph."`
	Mode         string `help:"${mode_help}" enum:"live,shadow" default:"live"`
	queryFlags   `embed:""`
	patternFlags `embed:""`
	admin.Client `embed:""`
}

// queryFlags are the settings of a query: what it emits, and what it may cost.
type queryFlags struct {
	Emit               string `help:"${emit_help}" enum:"deltas,counts,exists" default:"deltas"`
	Unit               string `help:"${unit_help}" enum:"embeddings,subgraphs" default:"embeddings"`
	MaxMatchesPerBatch uint64 `help:"Maximum number of positives emitted per batch; 0 is no limit." placeholder:"N"`
	ExactTotal         bool   `help:"Count beyond the cap, so that the batch record has the exact number."`
	WorkBudget         uint64 `help:"${work_budget_help}" placeholder:"N"`
	OverBudget         string `help:"${over_budget_help}" enum:"skip,suspend" default:"skip"`
	Sample             uint64 `help:"Keep one match in N, chosen by match id; 0 and 1 keep all." placeholder:"N"`
	OnExpiry           string `help:"${on_expiry_help}" enum:"emit,silent" default:"emit"`
	OnChange           string `help:"${on_change_help}" enum:",emit,silent" default:""`

	OncePer     []string    `help:"${once_per_help}" placeholder:"NAME"`
	OnceFor     config.Span `help:"${once_for_help}" placeholder:"TIME"`
	OnceMaxKeys uint64      `help:"${once_max_keys_help}" placeholder:"N"`
}

// once returns the option that the flags make, nil for none.
func (f *queryFlags) once() (*config.Once, error) {
	switch {
	case len(f.OncePer) > 0 && f.OnceFor > 0:
		return &config.Once{Per: f.OncePer, For: f.OnceFor, MaxKeys: f.OnceMaxKeys}, nil
	case len(f.OncePer) > 0 || f.OnceFor > 0 || f.OnceMaxKeys > 0:
		return nil, command.Refuse(errors.New("--once-per and --once-for go together, as in --once-per=m " +
			"--once-for=24h"))
	}
	return nil, nil
}

// set tells whether some flag is not at its default.
func (f *queryFlags) set() bool {
	return f.Emit != "deltas" || f.Unit != "embeddings" || f.MaxMatchesPerBatch > 0 || f.ExactTotal ||
		f.WorkBudget > 0 || f.OverBudget != "skip" || f.Sample > 0 || f.OnExpiry != config.SilentName(false) ||
		f.OnChange != "" || len(f.OncePer) > 0 || f.OnceFor > 0 || f.OnceMaxKeys > 0
}

// apply sets queries up as the flags say.
func (f *queryFlags) apply(queries []*matcher.Query, directed bool) error {
	if err := setEmit(queries, f.Emit); err != nil {
		return err
	}
	over, err := config.ParseOverBudget(f.OverBudget)
	if err != nil {
		return command.Refuse(err)
	}
	once, err := f.once()
	if err != nil {
		return err
	}
	for _, q := range queries {
		setUnit(q, f.Unit)
		q.MaxMatches, q.ExactTotal, q.WorkBudget, q.OverBudget, q.Sample = f.MaxMatchesPerBatch, f.ExactTotal,
			f.WorkBudget, over, f.Sample
		q.SilentExpiry = f.OnExpiry == config.SilentName(true)
		if once != nil {
			if err := q.SetOnce(once.Per, int64(once.For), once.MaxKeys); err != nil {
				return command.Refuse(err)
			}
		}
		if f.OnChange != "" {
			q.SilentChange = f.OnChange == config.SilentName(true)
		}
		if err := q.Validate(directed); err != nil {
			return command.Refuse(err)
		}
	}
	return nil
}

func (queryAddCmd) Help() string {
	return `Examples:
  motifd query add ring.cypher
  motifd query add ring.cypher --backfill=full --max-matches-per-batch=10000
  motifd query add ring.cypher --dry-run
  motifd query add pass_on.cypher --within=24h --param=hour=1h --param='channels=[web, app]'
  motifd query add ring.cypher --url=https://motifd.example:7475 --token-file=token`
}

// Run registers the query. The pattern is parsed by the daemon, which knows whether its graph is directed.
func (c *queryAddCmd) Run(a *app) error {
	language, ok := pattern.LanguageOf(c.File)
	if !ok {
		return command.Refuse(fmt.Errorf("%s: %w", c.File, pattern.ErrExtension))
	}
	src, err := os.ReadFile(c.File)
	if err != nil {
		return command.Refuse(fmt.Errorf("reading the pattern: %w", err))
	}
	if len(src) > pattern.MaxSource {
		return command.Refuse(fmt.Errorf("%s: the pattern has %d bytes; at most %d are allowed", c.File, len(src),
			pattern.MaxSource))
	}
	body := admin.NewQuery{
		Name: c.Name, Emit: c.Emit, MatchMode: c.MatchMode, Unit: c.Unit, Backfill: c.Backfill,
		MaxMatchesPerBatch: c.MaxMatchesPerBatch, ExactTotal: c.ExactTotal, WorkBudget: c.WorkBudget,
		OverBudget: c.OverBudget, Sample: c.Sample, OnExpiry: c.OnExpiry, OnChange: c.OnChange,
		Mode: c.Mode,
	}
	once, err := c.once()
	if err != nil {
		return err
	}
	body.Once = admin.OnceOf(once)
	if body.Params, err = c.params(); err != nil {
		return err
	}
	if c.Within > 0 {
		body.Within = c.Within.String()
	}
	if body.Name == "" {
		body.Name = strings.TrimSuffix(filepath.Base(c.File), filepath.Ext(c.File))
	}
	if language == pattern.Cypher {
		body.Cypher = string(src)
	} else {
		body.Text = string(src)
	}
	done, err := c.Client.Add(a.ctx, body, c.DryRun)
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	return printResult(a.stdout, &done, body.Name, "from batch %d on")
}

type queryListCmd struct {
	JSON         bool `help:"Print the daemon's JSON, which has the patterns too."`
	admin.Client `embed:""`
}

func (queryListCmd) Help() string {
	return `Examples:
  motifd query list
  motifd query list --json`
}

// Run lists the queries.
func (c *queryListCmd) Run(a *app) error {
	list, err := c.Client.List(a.ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return command.PrintJSON(a.stdout, list)
	}
	t := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tVERSION\tEMIT\tUNIT\tORIGIN\tSTATE")
	for _, q := range list.Queries {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\n", q.Name, q.Version, q.Emit, q.Unit, q.Origin, queryState(&q))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, q := range list.Queries {
		if err := printWarnings(a.stdout, "query "+q.Name+", ", q.Warnings); err != nil {
			return err
		}
	}
	for i := range list.Pending {
		if _, err := fmt.Fprintln(a.stdout, pendingText(&list.Pending[i])); err != nil {
			return err
		}
	}
	return nil
}

// queryState returns the state of a query, as the list shows it.
func queryState(q *admin.QueryInfo) string {
	state := "active"
	switch {
	case q.Suspended && q.SuspendedBy != "":
		state = "suspended (" + q.SuspendedBy + ")"
	case q.Suspended:
		state = "suspended"
	case q.Mode != "live":
		state += ", " + q.Mode
	}
	if q.LossySince > 0 {
		state += fmt.Sprintf(", lossy since batch %d", q.LossySince)
	}
	return state
}

// pendingText describes a change that is not in effect yet.
func pendingText(c *admin.PendingChange) string {
	text := fmt.Sprintf("pending: %s of query %s, %s for %s", c.Op, c.Query, c.State,
		time.Duration(c.Seconds*1e9).Round(time.Second))
	if c.Found > 0 {
		text += ", " + plural(c.Found, "match") + " found"
	}
	if c.Backfill != "" {
		text += " of " + c.Backfill
	}
	if c.Records > 0 {
		text += ", " + plural(c.Records, "record")
	}
	return text
}

type queryRemoveCmd struct {
	Name         string `arg:"" help:"Name of the query."`
	admin.Client `embed:""`
}

func (queryRemoveCmd) Help() string {
	return `A query of the configuration comes back with the next start unless it is removed there too.
A registration that still waits for the engine is withdrawn instead; one that is running is stopped first.

Example:
  motifd query remove ring`
}

// Run removes the query.
func (c *queryRemoveCmd) Run(a *app) error {
	done, err := c.Client.Remove(a.ctx, c.Name)
	if err != nil {
		return err
	}
	return printResult(a.stdout, &done, c.Name, "removed in batch %d")
}

type queryResumeCmd struct {
	Name         string `arg:"" help:"Name of the query."`
	admin.Client `embed:""`
}

func (queryResumeCmd) Help() string {
	return `Example:
  motifd query resume ring`
}

// Run resumes the query.
func (c *queryResumeCmd) Run(a *app) error {
	done, err := c.Client.Resume(a.ctx, c.Name)
	if err != nil {
		return err
	}
	return printResult(a.stdout, &done, c.Name, "from batch %d on")
}

// queries reads pattern files and directories; every mistake is reported.
func (f *graphFlags) queries(paths []string) ([]*matcher.Query, error) {
	schema, err := f.schema()
	if err != nil {
		return nil, err
	}
	params, err := f.params()
	if err != nil {
		return nil, err
	}
	opt := pattern.Options{Directed: !f.Undirected, Declared: config.Declared(schema, params),
		OnePerLabel: !f.edgeIDs()}
	if opt.MatchMode, err = config.ParseMatchMode(f.MatchMode); err != nil {
		return nil, command.Refuse(err)
	}
	opt.Declared.Used = make(map[string]bool) // several patterns share them
	var out []*matcher.Query
	var errs []error
	from := make(map[string]string)
	for _, path := range paths {
		queries, err := pattern.Load(path, opt)
		if err != nil {
			errs = append(errs, err)
		}
		for _, q := range queries {
			q.Within = int64(f.Within)
			if err := q.Timed(schema.EdgeDeclarations()); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", path, err))
				continue
			}
			if first, ok := from[q.Name]; ok {
				errs = append(errs, fmt.Errorf("%s: query %q was read from %s already; names are unique", path, q.Name,
					first))
				continue
			}
			if err := matcher.CheckNewName(q.Name); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", path, err))
				continue
			}
			from[q.Name] = path
			out = append(out, q)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if len(errs) == 0 && !opt.Declared.Used[name] {
			errs = append(errs, fmt.Errorf("--param: no pattern has the parameter $%s", name))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, command.Refuse(err)
	}
	return out, nil
}

// setEmit makes every query emit what the flag says.
func setEmit(queries []*matcher.Query, emit string) error {
	if emit == "" {
		return nil
	}
	e, err := config.ParseEmit(emit)
	if err != nil {
		return command.Refuse(err)
	}
	for _, q := range queries {
		q.Emit = e
	}
	return nil
}

// setUnit sets what one match is; the flag's values were checked.
func setUnit(q *matcher.Query, unit string) {
	if unit == "subgraphs" {
		q.Unit = matcher.Subgraphs
	}
}

// printResult tells what became of a change; when is a format for its batch.
func printResult(w io.Writer, d *admin.ChangeResult, name, when string) error {
	what := fmt.Sprintf("version %d, "+when, d.Version, d.Batch)
	if d.Backfill != "" {
		what += fmt.Sprintf(", matches in the graph: %s", d.Backfill)
	}
	switch {
	case d.DryRun:
		what = fmt.Sprintf("nothing was changed, matches in the graph: %s", d.Backfill)
	case d.Pending:
		what = "the change is pending: the engine is busy; motifd query list tells what becomes of it"
	case d.Unchanged:
		what = fmt.Sprintf("version %d, is registered like this already", d.Version)
	case d.Cancelled:
		what = "the pending change was withdrawn"
	}
	if _, err := fmt.Fprintf(w, "query %s, %s\n", name, what); err != nil {
		return err
	}
	return printWarnings(w, "", d.Warnings)
}

// printWarnings prints what may keep a query from matching.
func printWarnings(w io.Writer, indent string, warnings []string) error {
	for _, text := range warnings {
		if _, err := fmt.Fprintf(w, "%swarning: %s\n", indent, text); err != nil {
			return err
		}
	}
	return nil
}

// warnRetention logs the labels of a retention that no edge has had.
func (a *app) warnRetention(r eventtime.Retention, g *dyngraph.Graph) {
	for _, k := range r {
		if _, ok := g.LabelID(k.Label); !ok && k.Label != eventtime.Any && g.Edges() > 0 {
			a.log.Warn().Str("label", k.Label).Msg("check --retention: no edge has had this label")
		}
	}
}

// warn logs what may keep queries from matching.
func (a *app) warn(queries []*matcher.Query, g *dyngraph.Graph) {
	for _, q := range queries {
		for _, text := range matcher.Warnings(q, g.Options(), g) {
			a.log.Warn().Str("query", q.Name).Msg("check the pattern: " + text)
		}
	}
}
