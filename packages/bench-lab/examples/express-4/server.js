const express = require('express');
const app = express();
app.use(express.json());
const items = Array.from({ length: 10 }, (_, id) => ({
  id,
  name: `item ${id}`,
  price: id * 1.5,
  tags: ['a', 'b'],
}));
app.get('/items', (req, res) => res.json(items));
app.get('/items/:id', (req, res) => res.json(items[Number(req.params.id)]));
app.listen(Number(process.env.PORT || 3000));
