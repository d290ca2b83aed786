import { Controller, Get } from '@nestjs/common';

export class Cat {
  constructor(
    readonly id: number,
    readonly name: string,
    readonly chip: string,
  ) {}
}

const cats = Array.from({ length: 10 }, (_, n) => new Cat(n, `cat ${n}`, `chip-${n}`));

@Controller('cats')
export class CatsController {
  @Get()
  findAll(): Cat[] {
    return cats;
  }
}
