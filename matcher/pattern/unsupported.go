package pattern

import (
	"fmt"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// spot is the part of a query in which the parser stopped.
type spot uint8

const (
	atStart  spot = iota
	inMatch       // between the elements of a path
	inNode        // inside (..)
	inEdge        // inside [..]
	inReturn      // after RETURN
	inWhere       // in an expression
)

// locate tells where token i stands, from the tokens before it.
func locate(tokens []lexer.Token, i int) spot {
	clause, at := atStart, atStart
	for _, t := range tokens[:i] {
		switch {
		case t.Value == "(":
			at = inNode
		case t.Value == "[":
			at = inEdge
		case t.Value == ")" || t.Value == "]":
			at = clause
		case at == inNode || at == inEdge:
		case strings.EqualFold(t.Value, "MATCH"):
			clause, at = inMatch, inMatch
		case strings.EqualFold(t.Value, "RETURN"):
			clause, at = inReturn, inReturn
		}
	}
	return at
}

// unsupported names what stands at token i, where the parser could not go on, and says what would be right. The place
// is that of the construct: its first token, which may stand before i.
func unsupported(tokens []lexer.Token, i int) (lexer.Position, string) {
	t := tokens[i]
	where := locate(tokens, i)
	var before lexer.Token
	if i > 0 {
		before = tokens[i-1]
	}
	after := ""
	if i+1 < len(tokens) {
		after = tokens[i+1].Value
	}
	// A word that the grammar took for a name, but that begins something else: DISTINCT a, NOT a, count(a).
	if where == inReturn && !t.EOF() {
		first := strings.EqualFold(before.Value, "RETURN")
		if !first && isReserved(before.Value) {
			return before.Pos, refuseReserved(before.Value, where)
		}
		if !first && t.Value == "(" && isWord(before) {
			return before.Pos, fmt.Sprintf("the function %s is not supported; RETURN takes %s", short(before.Value),
				returnable)
		}
	}
	if msg := quotes(t); msg != "" {
		return t.Pos, msg
	}
	if isWord(t) && (where == inMatch || where == atStart) {
		if strings.EqualFold(t.Value, "shortestPath") || strings.EqualFold(t.Value, "allShortestPaths") {
			return t.Pos, t.Value + " is not supported; write a path with its lengths, as in -[t:T*1..5]->"
		}
		if after == "=" {
			return t.Pos, fmt.Sprintf(
				"the path variable %s is not supported; name the vertices and edges instead",
				short(t.Value),
			)
		}
	}
	if isWord(t) {
		if why, ok := clauses[strings.ToUpper(t.Value)]; ok {
			return t.Pos, why
		}
	}
	if msg := misplacedSign(t.Value, where); msg != "" {
		return t.Pos, msg
	}
	return t.Pos, fmt.Sprintf("unexpected %s; %s", describe(t), expected(t, before, where))
}

func isWord(t lexer.Token) bool { return t.Type == wordToken }

// returnable names, for messages, the kinds of items that RETURN takes.
const returnable = "vertices, edges, properties and what +, - and * make of them, or *"

// quotes answers quotes and comments.
func quotes(t lexer.Token) string {
	switch symbols := cypherLexer.Symbols(); t.Type {
	case symbols["OpenComment"]:
		return "the comment is never closed; end it with */"
	case symbols["OpenQuote"]:
		return "the quoted name is never closed; end it with a backquote"
	case symbols["OpenString"]:
		return "the string is never closed; end it with the quote that begins it"
	case symbols["String"]:
		return "a string stands in WHERE and in property maps; names in quotes are written in backquotes"
	}
	return ""
}

// misplacedSign names constructs that begin with a sign.
func misplacedSign(sign string, where spot) string {
	switch inside := where == inNode || where == inEdge; {
	case sign == "$" && inside:
		return "a parameter stands in a property map or in WHERE, as in {blocked: $blocked}"
	case sign == "*" && where == inEdge:
		return "the lengths of a path stand behind its label and before its properties, as in -[t:T*1..5 {x: 1}]->"
	case (sign == "*" || sign == "+" || sign == "{") && where == inMatch:
		return "a quantified path is not supported; write the lengths in the edge, as in -[t:T*1..3]->"
	case sign == "(" && where == inNode:
		return "a path in parentheses is not supported; write the paths one after the other, separated by commas"
	case strings.Contains("+-/%^*", sign) && sign != "" && where == inReturn:
		return "a vertex or edge stands for no value; write a property of it, as in a.x + b.x"
	case sign == ":" && where == inReturn:
		return "a label in RETURN is not supported; write it in MATCH, as in (a:Account)"
	}
	return ""
}

// expected says what could have stood at t.
func expected(t, before lexer.Token, where spot) string {
	digits := t.Type == numberToken
	switch where {
	case atStart:
		return "a pattern starts with MATCH, as in MATCH (a:Account)-[:TRANSFER]->(b)"
	case inNode, inEdge:
		what, form := "vertex", "a vertex is written (name:Label {property: value}), each part optional"
		if where == inEdge {
			what, form = "edge", "an edge is written -[name:TYPE {property: value}]->, each part optional"
		}
		switch {
		case digits:
			return "a name that starts with a digit is written in backquotes"
		case before.Value == ":":
			return "after the colon stands the label of the " + what
		}
		return form
	case inReturn:
		if before.Value == ";" {
			return "a pattern ends with its semicolon; a file holds one pattern"
		}
		return "RETURN takes " + returnable + ", and ends the pattern"
	}
	switch before.Value {
	case ";":
		return "a pattern ends with its semicolon; a file holds one pattern"
	case "-", "<":
		return "an edge is written -->, <--, --, -[..]->, <-[..]- or -[..]- and leads to a vertex: (..)"
	case ")":
		return "after a vertex stands an edge, a comma, WHERE, MATCH, RETURN or the end"
	}
	return "a vertex is written in parentheses, as in (a:Account)"
}

func describe(t lexer.Token) string {
	if t.EOF() {
		return "end of the pattern"
	}
	return short(t.Value)
}
