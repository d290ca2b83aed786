import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import { map } from 'rxjs';

export class Cat {
  constructor(
    readonly id: number,
    readonly name: string,
    readonly chip: string,
  ) {}
}

const cats = Array.from({ length: 10 }, (_, n) => new Cat(n, `cat ${n}`, `chip-${n}`));

@Injectable()
class WithLinks implements NestInterceptor<Cat[]> {
  intercept(_: ExecutionContext, next: CallHandler<Cat[]>) {
    return next
      .handle()
      .pipe(map((all) => ({ cats: all.map((cat) => ({ ...cat, link: `/cats/${cat.id}` })) })));
  }
}

@Controller('cats')
@UseInterceptors(WithLinks)
export class CatsController {
  @Get()
  findAll(): Cat[] {
    return cats;
  }
}
