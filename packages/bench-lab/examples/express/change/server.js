const express = require('express');

const items = Array.from({ length: 200 }, (_, id) => ({ id, name: `item ${id}`, cents: 100 + id }));
const app = express();

app.get('/items', (request, response) => {
  const shown = items.slice(0, Number(request.query.limit ?? 20));
  response.json(shown.map((item) => ({ ...item, price: (item.cents / 100).toFixed(2) })));
});

app.listen(process.env.PORT ?? 3000);
