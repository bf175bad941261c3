// Makes requests with axios and axios-retry, one after the other, with a random
// source that always says 0:
//
//	node axios.js MODULES URL DELAY CLIENTS
//
// MODULES is the directory whose node_modules has both; DELAY is default or
// exponential; each client is known by its number.
'use strict';

const { createRequire } = require('module');
const [modules, url, delay, clients] = process.argv.slice(2);
const load = createRequire(modules + '/');
const axios = load('axios');
const { default: axiosRetry, exponentialDelay } = load('axios-retry');

Math.random = () => 0;

async function main() {
  const client = axios.create();
  axiosRetry(client, delay === 'exponential' ? { retryDelay: exponentialDelay } : {});
  for (let i = 0; i < Number(clients); i++) {
    const options = { headers: { 'X-Client-Id': `client-${i}` }, validateStatus: (s) => s < 300 };
    await client.get(url, options).catch((error) => {
      if (!error.response) throw error;
    });
  }
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
