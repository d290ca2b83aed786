import { showPrice } from '@shop/prices';
import fastify from 'fastify';

const app = fastify();
const goods = Array.from({ length: 4 }, (_, id) => ({ id, cents: 995 + id }));

app.get('/goods', () => goods.map(({ id, cents }) => ({ id, price: showPrice(cents) })));

await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' });
