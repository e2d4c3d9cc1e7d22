package config

import (
	"net"
	"strconv"
	"time"

	"motifd/stream"
	"motifd/stream/file"
	"motifd/stream/kafka/publish"
)

// Config is the whole configuration. docs/configuration.md describes every field with its default and unit.
type Config struct {
	Graph      Graph      `yaml:"graph"`
	Input      Input      `yaml:"input"`
	Batch      Batch      `yaml:"batch"`
	Time       Time       `yaml:"time"`
	Output     Output     `yaml:"output"`
	QueriesDir string     `yaml:"queries_dir"` // every .cypher, .txt and .graph file in it is a query
	Queries    []Query    `yaml:"queries"`
	Engine     Engine     `yaml:"engine"`
	Checkpoint Checkpoint `yaml:"checkpoint"`
	Queues     Queues     `yaml:"queues"`
	Admin      Admin      `yaml:"admin"`
	Embedded   *Embedded  `yaml:"embedded"` // nil: no embedded log
	Log        Log        `yaml:"log"`
	// StopTimeout bounds a graceful stop, 0 for no bound; the batch in progress is done again by the next start.
	StopTimeout Duration `yaml:"stop_timeout"`

	src *sources
}

// Graph says what the graph is and how it begins.
type Graph struct {
	Directed        bool   `yaml:"directed"`
	Bootstrap       string `yaml:"bootstrap"` // file loaded into a fresh checkpoint without emitting
	BootstrapFormat string `yaml:"bootstrap_format"`
	BootstrapCSV    string `yaml:"bootstrap_csv"` // columns, as CSV.Columns
	MaxEdges        uint64 `yaml:"max_edges"`     // 0: what edge indexes allow
	OnMaxEdges      string `yaml:"on_max_edges"`  // one of OnMaxEdges...
	MaxVertices     uint64 `yaml:"max_vertices"`  // 0: what dense ids allow

	Properties      Properties      `yaml:"properties"`
	EdgeIdentity    string          `yaml:"edge_identity"`     // see EdgeIDs
	VertexLabels    string          `yaml:"vertex_labels"`     // one of VertexLabels...
	MaxVertexLabels uint64          `yaml:"max_vertex_labels"` // of one vertex that may have several; 0: no limit
	Retention       map[string]Span `yaml:"retention"`         // by label, or *: for the others; none: no edge expires
	VertexExpiry    string          `yaml:"vertex_expiry"`     // one of VertexExpiry...
}

// What graph.max_edges does when it is reached.
const (
	OnMaxEdgesPause  = "pause"  // the input waits
	OnMaxEdgesReject = "reject" // new edges are dead letters
)

// How many labels graph.vertex_labels lets a vertex have.
const (
	VertexLabelsOne     = "one"
	VertexLabelsSeveral = "several" // they come and go
)

// What graph.vertex_expiry removes.
const (
	VertexExpiryNone     = "none"
	VertexExpiryIsolated = "isolated" // vertices without edges that no +v declared
)

// Input configures the source of updates: exactly one of Kafka and File is set.
type Input struct {
	Kafka         *KafkaInput `yaml:"kafka"`
	File          *FileInput  `yaml:"file"`
	Format        string      `yaml:"format"` // auto, json, csv or text
	CSV           CSV         `yaml:"csv"`
	UnknownFields string      `yaml:"unknown_fields"`
	Limits        Limits      `yaml:"limits"`
}

// CSV says how records in CSV are read.
type CSV struct {
	Columns string `yaml:"columns"` // FIELD=COLUMN,...: see codec.ParseMapping
	Header  string `yaml:"header"`  // header row of records that come without one
	Comma   string `yaml:"comma"`   // separator, one character
}

// Limits bound what one input record may ask for.
type Limits struct {
	MaxMessageBytes Size `yaml:"max_message_bytes"`
	MaxDepth        int  `yaml:"max_depth"`
	MaxUpdates      int  `yaml:"max_updates"`
	MaxPropsBytes   Size `yaml:"max_props_bytes"`
	// MaxDeadLetterBytes is the number of bytes of a refused record that are kept.
	MaxDeadLetterBytes Size `yaml:"max_dead_letter_bytes"`
	// MaxExpandedBytes bounds what one compressed record batch of Kafka expands to.
	MaxExpandedBytes Size `yaml:"max_expanded_bytes"`
	// MaxExpansion bounds how many times its size a compressed file may decompress to.
	MaxExpansion int `yaml:"max_expansion"`
}

// Connection says how to reach Kafka.
type Connection struct {
	Brokers []string `yaml:"brokers"`
	TLS     *TLS     `yaml:"tls"`
	SASL    *SASL    `yaml:"sasl"`
	// RequestTimeout is the time to wait for an answer before the request is made again. An output without one takes
	// the input's.
	RequestTimeout Duration `yaml:"request_timeout"`

	inherited bool // from the input, where it is checked
}

// TLS is the client side of TLS.
type TLS struct {
	CAFile     string `yaml:"ca_file"` // "": the system's authorities
	CertFile   string `yaml:"cert_file"`
	KeyFile    string `yaml:"key_file"`
	ServerName string `yaml:"server_name"`
}

// SASL authenticates to the brokers.
type SASL struct {
	Mechanism string `yaml:"mechanism"` // plain, scram-sha-256 or scram-sha-512
	Username  string `yaml:"username"`
	Password  Secret `yaml:"password"`
}

// KafkaInput reads updates from a topic.
type KafkaInput struct {
	Connection `yaml:",inline"`
	Topic      string  `yaml:"topic"`
	Partitions []int32 `yaml:"partitions"` // empty: all
	Start      string  `yaml:"start"`      // earliest or latest, where no position is known
	Isolation  string  `yaml:"isolation"`  // read_committed or read_uncommitted
	Merge      string  `yaml:"merge"`      // timestamp or none
	Group      string  `yaml:"group"`      // positions are published to it for lag tools; "": not published
	OnDataLoss string  `yaml:"on_data_loss"`
}

// FileInput reads updates from files.
type FileInput struct {
	Path     string `yaml:"path"`      // file, directory, or - for stdin
	OnDamage string `yaml:"on_damage"` // stop or skip, where a file cannot be read on
}

// Batch says when a batch is cut: whichever bound is met first.
type Batch struct {
	MaxUpdates int      `yaml:"max_updates"`
	MaxBytes   Size     `yaml:"max_bytes"`
	Linger     Duration `yaml:"linger"`
}

// Output configures the destination of deltas: exactly one of Kafka and File is set.
type Output struct {
	Mode          string       `yaml:"mode"` // changelog or upsert
	Kafka         *KafkaOutput `yaml:"kafka"`
	File          *FileOutput  `yaml:"file"`
	EchoProps     bool         `yaml:"echo_props"`
	AllowExisting bool         `yaml:"allow_existing"`
}

// KafkaOutput writes to topics.
type KafkaOutput struct {
	Connection  `yaml:",inline"`
	Topic       string `yaml:"topic"`
	DeadLetter  string `yaml:"dead_letter"` // topic; "": dead letters are counted and logged only
	Control     string `yaml:"control"`     // topic of batch records; "": none
	Compression string `yaml:"compression"` // none, gzip, snappy, lz4 or zstd

	Transactions          string   `yaml:"transactions"`            // on, auto or off
	MaxTransactionRecords int      `yaml:"max_transaction_records"` // a larger batch takes several transactions
	TransactionTimeout    Duration `yaml:"transaction_timeout"`     // after which brokers abort an open transaction
	TransactionMemory     Size     `yaml:"transaction_memory"`      // of the open transaction; the rest is on disk
	ProgressTopic         string   `yaml:"progress_topic"`          // "": the output topic and "-progress"

	// OnPartitionChange tells what to do when the output topic has another partition count than at the last commit:
	// stop, keep (the former ones) or spread (over all).
	OnPartitionChange string `yaml:"on_partition_change"`
}

// Progress is the topic of the progress records.
func (k *KafkaOutput) Progress() string {
	if k.ProgressTopic != "" {
		return k.ProgressTopic
	}
	return k.Topic + "-progress"
}

// FileOutput writes to files.
type FileOutput struct {
	Path       string `yaml:"path"` // - is stdout
	DeadLetter string `yaml:"dead_letter"`
	Control    string `yaml:"control"`
}

// Query is a registered pattern: exactly one of File, Cypher and Text is set. Build has the defaults of the other
// fields.
type Query struct {
	Name               string `yaml:"name"` // "": the file's name without extension
	File               string `yaml:"file"`
	Cypher             string `yaml:"cypher"`
	Text               string `yaml:"text"`
	Emit               string `yaml:"emit"`
	MatchMode          string `yaml:"match_mode"` // isomorphism, homomorphism or trail
	Unit               string `yaml:"unit"`
	Backfill           string `yaml:"backfill"`
	MaxMatchesPerBatch uint64 `yaml:"max_matches_per_batch"`
	ExactTotal         bool   `yaml:"exact_total"`
	WorkBudget         uint64 `yaml:"work_budget"`
	OverBudget         string `yaml:"over_budget"` // skip or suspend
	Sample             uint64 `yaml:"sample"`      // keeps one match in Sample; 0 and 1 keep all
	OnExpiry           string `yaml:"on_expiry"`   // emit or silent, where an edge of a match expires
	OnChange           string `yaml:"on_change"`   // emit or silent, where a match holds before and after a change
	Mode               string `yaml:"mode"`        // live or shadow
	Once               *Once  `yaml:"once"`        // nil: every positive

	Within Span   `yaml:"within"` // greatest ts of a match less the least; 0: any
	Params Params `yaml:"params"` // values of $name in the pattern
}

// Once has a query emit one positive per key within a time, and no negatives.
type Once struct {
	Per     []string `yaml:"per" json:"per"` // names of vertices and edges, which make the key
	For     Span     `yaml:"for" json:"-"`   // in event time
	MaxKeys uint64   `yaml:"max_keys" json:"max_keys,omitempty"`
}

// Engine says what searches.
type Engine struct {
	Backend string  `yaml:"backend"` // auto, cpu, cuda or reference
	Device  Devices `yaml:"device"`  // GPUs
	// DeviceMemory bounds what is taken of the memory of each GPU. 0: all that it has.
	DeviceMemory Size `yaml:"device_memory"`
	// Placement is how backend auto chooses between CPU and GPU.
	Placement   Placement    `yaml:"placement"`
	Threads     int          `yaml:"threads"`      // 0: one per processor
	SpillDir    string       `yaml:"spill_dir"`    // "": the system's temporary directory
	GroupMemory Size         `yaml:"group_memory"` // of one group of matches sorted in memory
	Limits      SearchLimits `yaml:"limits"`
}

// SearchLimits bound what searching may cost. 0 is no bound.
type SearchLimits struct {
	GroupMatches uint64   `yaml:"group_matches"` // of one anchor and one query, or of a backfill
	QueryMatches uint64   `yaml:"query_matches"` // of one query in one batch
	QueryOutput  Size     `yaml:"query_output"`  // what is written of them
	QueryTime    Duration `yaml:"query_time"`    // of one query in one batch, summed over threads
	BatchTime    Duration `yaml:"batch_time"`    // of all queries in one batch, summed over threads
	SpillBytes   Size     `yaml:"spill_bytes"`   // temporary files of one batch
}

// Placement says how backend auto chooses between CPU and GPU, search by search.
type Placement struct {
	Fill              uint64 `yaml:"fill"`               // estimated work that the GPU is first tried with
	ExplorePercent    int    `yaml:"explore_percent"`    // of all time, for trying the other side
	HysteresisPercent int    `yaml:"hysteresis_percent"` // that the other side has to be cheaper by
	// Rehearse bounds the searches that are made before the first batch, to compare the sides; 0: none.
	Rehearse Duration `yaml:"rehearse"`
}

// Checkpoint says where the daemon's state is kept.
type Checkpoint struct {
	Dir       string    `yaml:"dir"`
	Retention Retention `yaml:"retention"`
}

// Retention bounds the batch log; whichever bound is met first.
type Retention struct {
	Batches uint64   `yaml:"batches"` // 0 keeps none
	Bytes   Size     `yaml:"bytes"`   // 0 is no bound
	Time    Duration `yaml:"time"`    // 0 is no bound
}

// Queues bound what waits between the goroutines. When one is full, its producer blocks.
type Queues struct {
	InputRecords int  `yaml:"input_records"` // decoded and not yet in a batch
	InputBytes   Size `yaml:"input_bytes"`   // memory that they take, estimated
	OutputBytes  Size `yaml:"output_bytes"`  // encoded and not yet written
}

// Admin is the HTTP interface.
type Admin struct {
	Listen string `yaml:"listen"` // "": none
	// MetricsListen is the address of metrics and probes alone, without TLS and token. "": none.
	MetricsListen string    `yaml:"metrics_listen"`
	PProf         bool      `yaml:"pprof"`
	TLS           *AdminTLS `yaml:"tls"`
	Token         Secret    `yaml:"token"`
	// Hosts are accepted in the Host header beside the listen address and localhost.
	Hosts []string `yaml:"hosts"`
	// MaxQueries and MaxPatternBytes bound the queries that the API registers: with those there are, pending ones
	// included.
	MaxQueries      int  `yaml:"max_queries"`
	MaxPatternBytes Size `yaml:"max_pattern_bytes"`
	// MaxRequestsPerSecond bounds requests to the API, on average; as many may come at once. 0: no bound.
	MaxRequestsPerSecond int `yaml:"max_requests_per_second"`
	// MaxBackfill bounds the matches that a registration by the API backfills, and CountTime the search time for
	// counting them. 0: no bound.
	MaxBackfill uint64   `yaml:"max_backfill"`
	CountTime   Duration `yaml:"count_time"`
	// StepTimeout is the time that a step may take before /readyz reports it; 0: any time.
	StepTimeout Duration `yaml:"step_timeout"`
}

// AdminTLS is the server side of TLS.
type AdminTLS struct {
	CertFile string `yaml:"cert_file"`
	KeyFile  string `yaml:"key_file"`

	src *sources
}

// Embedded runs the embedded log in this process: a single-node log that speaks Kafka's protocol, for trying motifd and
// for development.
type Embedded struct {
	Dir        string `yaml:"dir"`
	Port       int    `yaml:"port"`       // on 127.0.0.1
	Sync       bool   `yaml:"sync"`       // each record is on disk before it is acknowledged
	Partitions int    `yaml:"partitions"` // of topics that it creates
}

// Addr is the address of the embedded log.
func (e *Embedded) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(e.Port)) }

// Log is about motifd's own log, on standard error.
type Log struct {
	Level  string `yaml:"level"`  // debug, info, warn or error
	Format string `yaml:"format"` // auto, console or json
}

// Default returns the configuration before anything is set.
func Default() *Config {
	return &Config{
		Graph: Graph{Directed: true, BootstrapFormat: "auto", OnMaxEdges: OnMaxEdgesPause, MaxVertexLabels: 100,
			VertexExpiry: VertexExpiryNone},
		Input: Input{
			Format:        "auto",
			UnknownFields: "refuse",
			Limits: Limits{
				MaxMessageBytes:    4 * MiB,
				MaxDepth:           32,
				MaxUpdates:         100_000,
				MaxPropsBytes:      64 * KiB,
				MaxDeadLetterBytes: 64 * KiB,
				MaxExpandedBytes:   64 * MiB,
				MaxExpansion:       file.DefaultMaxExpansion,
			},
		},
		Batch: Batch{MaxUpdates: 10_000, MaxBytes: 8 * MiB, Linger: Duration(50 * time.Millisecond)},
		Time: Time{Idle: Duration(time.Minute), MaxExpired: stream.DefaultMaxExpired, Late: LateDrop,
			MaxAhead: Period((24 * time.Hour).Milliseconds())},
		Output: Output{Mode: "changelog"},
		Engine: Engine{Device: Devices{Numbers: []int{0}},
			Backend:     "auto",
			GroupMemory: 64 * MiB,
			Limits: SearchLimits{
				GroupMatches: 10_000_000,
				QueryMatches: 1_000_000_000,
				QueryOutput:  1 * GiB,
				QueryTime:    Duration(time.Minute),
				BatchTime:    Duration(5 * time.Minute),
				SpillBytes:   16 * GiB,
			},
			Placement: Placement{
				Fill:              1 << 18,
				ExplorePercent:    4,
				HysteresisPercent: 5,
				Rehearse:          Duration(500 * time.Millisecond),
			},
		},
		Checkpoint: Checkpoint{Retention: Retention{Batches: 1_000_000, Bytes: 1 * GiB,
			Time: Duration(24 * time.Hour)}},
		Queues: Queues{InputRecords: 65_536, InputBytes: 64 * MiB, OutputBytes: 64 * MiB},
		Admin: Admin{
			Listen:               "127.0.0.1:7475",
			StepTimeout:          Duration(time.Minute),
			MaxQueries:           1000,
			MaxPatternBytes:      16 * MiB,
			MaxRequestsPerSecond: 50,
			MaxBackfill:          10_000_000,
			CountTime:            Duration(2 * time.Second),
		},
		Log: Log{Level: "info", Format: "auto"},

		StopTimeout: Duration(30 * time.Second),
	}
}

// requestTimeout is the default of Connection.RequestTimeout.
const requestTimeout = Duration(30 * time.Second)

// defaulter sets the defaults of a section or list element that is there only when it is named.
type defaulter interface{ setDefaults() }

func (f *FileInput) setDefaults() { f.OnDamage = string(file.DamageStop) }

func (k *KafkaInput) setDefaults() {
	k.Start, k.Isolation, k.Merge, k.OnDataLoss = "earliest", "read_committed", "timestamp", "stop"
	k.RequestTimeout = requestTimeout
}

func (k *KafkaOutput) setDefaults() {
	k.Compression, k.Transactions, k.OnPartitionChange = "none", publish.TransactionsOn, publish.PartitionsStop
	k.MaxTransactionRecords, k.TransactionTimeout, k.TransactionMemory = 100_000, Duration(time.Minute), 64<<20
}

func (s *SASL) setDefaults() { s.Mechanism = "scram-sha-512" }

func (e *Embedded) setDefaults() { e.Port, e.Sync, e.Partitions = 9092, true, 1 }
