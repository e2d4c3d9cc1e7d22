// Lints queries as Cypher 5 by Neo4j's language support. Standard input: a JSON object with the queries and their
// parameters. Standard output: a JSON list with the errors of each query.
const { lintCypherQuery } = require('@neo4j-cypher/language-support');

const { queries, parameters } = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const errors = queries.map((query) => {
  const result = lintCypherQuery('CYPHER 5 ' + query, { parameters });
  const found = Array.isArray(result) ? result : result.diagnostics;
  return found.filter((d) => d.severity === 1).map((d) => d.message);
});
process.stdout.write(JSON.stringify(errors));
