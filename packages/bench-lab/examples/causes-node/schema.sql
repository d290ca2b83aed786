create table orders (id int primary key, title text not null);
create table lines (order_id int not null references orders, sku text not null, count int not null);
insert into orders select n, 'order ' || n from generate_series(1, 20) n;
insert into lines select 1 + n % 20, 'sku-' || n, n from generate_series(1, 60) n;
create index on lines (order_id);
analyze;
