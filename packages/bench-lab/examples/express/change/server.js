const express = require('express');

const items = Array.from({ length: 200 }, (_, id) => ({ id, name: `item ${id}`, cents: 100 + id }));
const app = express();

app.get('/items', (request, response) => {
  response.json(structuredClone(items.slice(0, Number(request.query.limit ?? 20))));
});

app.listen(process.env.PORT ?? 3000);
