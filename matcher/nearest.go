package matcher

import "strings"

// MaxNear is the longest word, in bytes, that Nearest compares. Labels of that length are not typed by hand.
const MaxNear = 64

// Nearest returns the candidate most like word, or "" when none is near.
func Nearest(word string, candidates []string) string {
	if len(word) > MaxNear {
		return ""
	}
	best, found := "", len(word)/2+1
	for _, c := range candidates {
		if len(c) >= len(word)+found {
			continue // it is longer by more than that
		}
		if d := distance(strings.ToLower(word), strings.ToLower(c)); d < found {
			best, found = c, d
		}
	}
	return best
}

// distance is the number of letters to insert, delete, replace or swap with their neighbour to get from a to b.
func distance(a, b string) int {
	row := make([][]int, len(a)+1)
	for i := range row {
		row[i] = make([]int, len(b)+1)
		row[i][0] = i
	}
	for j := range row[0] {
		row[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[i][j] = min(row[i-1][j]+1, row[i][j-1]+1, row[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[i][j] = min(row[i][j], row[i-2][j-2]+1)
			}
		}
	}
	return row[len(a)][len(b)]
}
