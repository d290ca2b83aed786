console.log('no mail to send');
