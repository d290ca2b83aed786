module.exports = Array.from({ length: 10 }, (_, id) => ({
  id,
  name: `item ${id}`,
  price: id * 1.5,
  tags: ['a', 'b'],
}));
