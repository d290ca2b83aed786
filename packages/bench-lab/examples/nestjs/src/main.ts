import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { CatsModule } from './cats.module';

void NestFactory.create(CatsModule).then((app) => app.listen(process.env.PORT ?? 3000));
