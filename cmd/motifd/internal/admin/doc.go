// Package admin is the admin interface of the daemon over HTTP: the API of queries and status, probes, metrics, pprof;
// and its client, which motifd query uses.
//
// In: the section admin of the configuration, a registry of metrics, and the Daemon that the handlers ask. Out: JSON,
// of the types here; docs/api.md describes it. A Server checks each request (host, token, rate, content type, size)
// before a handler sees it. Changes holds the query changes that the API has accepted and the engine has not begun; the
// Daemon makes its changes through it.
//
// The package starts a goroutine for each change, which ends with it, and those of net/http, which end with Serve.
package admin
