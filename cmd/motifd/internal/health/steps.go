package health

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"motifd/stream"
)

// slowStep is the time of one step that makes a line in the log, again and again.
const slowStep = 10 * time.Second

// describeStep says what a step does.
func describeStep(s *stream.StepStatus) string {
	what := fmt.Sprintf("batch %d", s.Batch)
	switch {
	case s.Change != "":
		what += fmt.Sprintf(", %s of query %q,", s.Change, s.Query)
	case s.Query != "":
		what += fmt.Sprintf(", which emits matches of query %q,", s.Query)
	}
	return fmt.Sprintf("%s has taken %s", what, time.Duration(s.Seconds*float64(time.Second)).Round(time.Second))
}

// WatchSteps logs what a step does for each slowStep that it takes, until ctx is done.
func WatchSteps(ctx context.Context, running func() (stream.StepStatus, bool), log zerolog.Logger) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	batch, told := uint64(0), 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s, ok := running()
		if !ok || s.Batch != batch {
			batch, told = s.Batch, 0
		}
		if n := int(s.Seconds / slowStep.Seconds()); ok && n > told {
			told = n
			line := log.Warn().Uint64("batch", s.Batch).Str("phase", string(s.Phase))
			if s.Change != "" {
				line.Str("change", s.Change)
			} else {
				line.Int("updates", s.Updates)
			}
			if s.Query != "" {
				line.Str("query", s.Query)
			}
			if s.Sign != "" {
				line.Str("sign", s.Sign).Int("update", s.Update)
			}
			if s.Anchors != 0 {
				line.Uint64("anchors_done", s.AnchorsDone).Uint64("anchors", s.Anchors)
			}
			line.Uint64("found", s.Found).Uint64("records", s.Records).Msg("slow: " + describeStep(&s))
		}
	}
}
