package publish

import (
	"encoding/json"
	"fmt"

	"motifd/stream"
)

// outputOffsets is the content of a stream.Mark: for each topic that the sink writes to, the next offset of each
// partition when the batch was done.
type outputOffsets struct {
	Version int                `json:"v"`
	Next    map[string][]int64 `json:"next"`
}

const markVersion = 1

func (m outputOffsets) encode() (stream.Mark, error) {
	m.Version = markVersion
	return json.Marshal(m)
}

func parseMark(b stream.Mark) (outputOffsets, error) {
	var m outputOffsets
	if err := json.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("kafka: the checkpoint's output mark cannot be read (was the output a file before?): %w",
			err)
	}
	if m.Version != markVersion {
		return m, fmt.Errorf("kafka: the checkpoint's output mark has version %d, supported is %d", m.Version,
			markVersion)
	}
	for topic, next := range m.Next {
		for p, off := range next {
			if off < 0 {
				return m, fmt.Errorf("kafka: the checkpoint's output mark has offset %d in topic %q, partition %d", off,
					topic, p)
			}
		}
	}
	return m, nil
}
