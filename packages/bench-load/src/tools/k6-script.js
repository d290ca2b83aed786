// The script that k6 runs. The environment defines the request; stdout gets one JSON document with the results.
import http from 'k6/http';

const { URL: url, HEADERS, CONNECTIONS, SECONDS, TIMEOUT } = __ENV;
const params = { headers: JSON.parse(HEADERS), timeout: `${TIMEOUT}s`, redirects: 0 };

export const options = {
  scenarios: {
    load: {
      executor: 'constant-vus',
      vus: Number(CONNECTIONS),
      duration: `${SECONDS}s`,
      gracefulStop: '0s',
    },
  },
  discardResponseBodies: true,
  summaryTrendStats: ['avg', 'max', 'p(50)', 'p(75)', 'p(90)', 'p(97.5)', 'p(99)', 'p(99.9)'],
};

export default function ask() {
  http.get(url, params);
}

export function handleSummary(data) {
  return { stdout: JSON.stringify(data) };
}
